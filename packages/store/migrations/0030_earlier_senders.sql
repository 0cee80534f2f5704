-- Who sent a handoff before somebody else corrected it: none of them decides about it, nor does who corrected it last.
-- Locks: access exclusive on handoff for an instant. Roll-forward; never edited once landed.

alter table handoff add column earlier_senders text[] not null default '{}';
