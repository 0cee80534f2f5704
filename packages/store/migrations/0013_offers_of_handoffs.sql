-- Which handoff an offer became, so that erasing the one takes the other along.
-- Locks: access exclusive on offer for an instant; a nullable column without a default rewrites nothing. The index is
-- built under a share lock, while offers can be read but not changed. Roll-forward; never edited once landed.

alter table offer add column handoff_id uuid;
create index offer_handoff on offer (handoff_id);
