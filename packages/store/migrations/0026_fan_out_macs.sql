-- What a join is built from carries an authenticator, made with a key that Postgres never holds.
-- Locks: `alter table` takes ACCESS EXCLUSIVE on two tables for an instant (nullable columns, no rewrite).
-- Roll-forward; never edited once landed.

-- HMAC-SHA-256, in hex, over what was asked for at the fan-out, and over a branch's result. Null of a branch without a result, of
-- what was erased, and of fan-outs that were open before: these are not joined, since whoever writes here could say so of any.
alter table fan_out add column mac text;
alter table branch add column mac text;
