// What starting Node costs.
