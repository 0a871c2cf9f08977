"""The same in Python: csv, json, http.client (kept alive), light checks, promises appended. Remembers nothing.

    python3 naive.py <base url> <promises file> <events.csv> <sales.csv>
"""

import csv
import http.client
import json
import re
import sys
from urllib.parse import urlsplit

base_url, output, events, sales = sys.argv[1:]
connection = http.client.HTTPConnection(urlsplit(base_url).netloc)
price = re.compile(r"\d+(\.\d+)?\Z", re.ASCII)


def check(condition, row):
    if not condition:
        raise ValueError(row)


def event_of(row):
    check(0 < len(row["eventId"]) <= 255 and len(row["currency"]) == 3, row)
    return {"action": "newEvent", "data": row}


def sale_of(row):
    data = {name: row[name] for name in ("eventId", "ticketId", "userId", "price")}
    for name in ("eventId", "ticketId", "userId"):
        check(0 < len(data[name]) <= 255, row)
    check(price.match(data["price"]), row)
    data["orderTime"] = int(row["orderTime"])
    for name, longest in (("name", 128), ("imageUrl", 255), ("to", 255)):
        if row[name]:
            check(len(row[name]) <= longest, row)
            data[name] = row[name]
    if row["metadataAttributes"]:
        data["metadataAttributes"] = json.loads(row["metadataAttributes"])
    return {"action": "soldTicket", "data": data}


def send(actions, promises):
    body = json.dumps(actions, ensure_ascii=False).encode()
    connection.request("POST", "/stream", body, {"Content-Type": "application/json", "X-Api-Key": "bench"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    check(response.status == 200 and len(answer["data"]) == len(actions), response.status)
    for item in answer["data"]:
        check(item["status"] == "success", item)
        promises.write(json.dumps(item) + "\n")
    promises.flush()


chunk = []
with open(output, "a", encoding="utf-8") as promises:
    for path, action_of in ((events, event_of), (sales, sale_of)):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                chunk.append(action_of(row))
                if len(chunk) == 5000:
                    send(chunk, promises)
                    chunk = []
    if chunk:
        send(chunk, promises)
