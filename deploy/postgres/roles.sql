-- Two roles: remit_owner owns the tables and runs `remit migrate`; remit_app serves and cannot
-- change tables. Run once in the database of Remit, as its superuser:
--   psql -v ON_ERROR_STOP=1 -f deploy/postgres/roles.sql postgres://postgres@…/remit
-- Then set passwords: \password remit_owner, \password remit_app
create role remit_owner login;
create role remit_app login;

revoke create on schema public from public;
grant usage, create on schema public to remit_owner;
grant usage on schema public to remit_app;

-- Tables that migrations create later.
alter default privileges for role remit_owner in schema public
  grant select, insert, update, delete on tables to remit_app;
