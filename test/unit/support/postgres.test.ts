import { describe, expect, it } from "vitest";
import { NEEDS_POSTGRES, startOwnPostgres, startPostgres, WITHOUT_POSTGRES } from "../../support/postgres.ts";

describe.skipIf(WITHOUT_POSTGRES)(`a PostgreSQL for tests${NEEDS_POSTGRES}`, () => {
  it("is one for all tests of a worker, with a schema for each", async () => {
    const [one, other] = [await startPostgres(), await startPostgres()];
    expect(one.port).toBe(other.port);
    expect(one.newSchema()).not.toBe(other.newSchema());
    expect(await one.query("SELECT $1::int + 1 AS two", [1])).toEqual([{ two: 2 }]);
  });

  it("still has what it confirmed before it was killed", async () => {
    const server = await startOwnPostgres();
    await server.query("CREATE TABLE kept AS SELECT 1 AS one");
    server.stop("killed");
    await expect(server.query("SELECT 1")).rejects.toThrow("ECONNREFUSED");
    server.start();
    expect(await server.query("SELECT one FROM kept")).toEqual([{ one: 1 }]);
  });

  it("has a standby that takes its place with all that was confirmed", async () => {
    const server = await startOwnPostgres();
    const standby = await server.addStandby();
    await server.query("CREATE TABLE kept AS SELECT 1 AS one");
    server.stop("killed");
    standby.promote();
    expect(await standby.query("SELECT one FROM kept")).toEqual([{ one: 1 }]);
    await standby.query("INSERT INTO kept VALUES (2)");
  });
});
