-- Where workers run, so that a blocked handoff is routed only where its data may be processed.
-- Locks: access exclusive on agent_registration for an instant, since a column without a default rewrites nothing. Roll-forward;
-- never edited once landed.

-- ISO 3166-1 alpha-2 in capitals, or EU; null where the worker does not say: then it takes nothing that must stay somewhere.
alter table agent_registration add column jurisdiction text;
