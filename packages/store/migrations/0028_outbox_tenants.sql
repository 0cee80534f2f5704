-- Whose every row of the outbox is, so that relays take turns between tenants and each has a bound of its own.
-- Locks: access exclusive on outbox while its index is built anew, which is as long as what waits there takes to be read. Roll-forward; never
-- edited once landed.

alter table outbox add column tenant text not null default 'default';
update outbox o set tenant = h.tenant from handoff h where h.id = o.handoff_id and h.tenant <> 'default';
drop index outbox_claim;
create index outbox_claim on outbox (tenant, queue, priority, seq);
