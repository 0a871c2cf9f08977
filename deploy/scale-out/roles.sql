-- Who may do what in a ledger, each with rights on its schema and on nothing else. An administrator runs it once in the ledger's
-- database, before the first command:
--
--   psql --dbname=tickets --file=deploy/scale-out/roles.sql
--
-- The schema is called `tickets` here, as in config.yaml; each environment has one of its own. Passwords are yours to set
-- (\password tickets_worker), or other ways to log in.

-- Creates the tables: stream, resume, settle, results, prune.
CREATE ROLE tickets_publisher LOGIN;
-- Reads and writes rows: work.
CREATE ROLE tickets_worker LOGIN;
-- Reads: status, find, results.
CREATE ROLE tickets_reader LOGIN;

-- A process that sends ends the session of a worker that is frozen.
GRANT tickets_worker TO tickets_publisher;

CREATE SCHEMA tickets AUTHORIZATION tickets_publisher;
GRANT USAGE ON SCHEMA tickets TO tickets_worker, tickets_reader;

-- For the tables that the publisher is about to create.
ALTER DEFAULT PRIVILEGES FOR ROLE tickets_publisher IN SCHEMA tickets
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO tickets_worker;
ALTER DEFAULT PRIVILEGES FOR ROLE tickets_publisher IN SCHEMA tickets
  GRANT SELECT ON TABLES TO tickets_reader;
