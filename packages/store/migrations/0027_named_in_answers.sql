-- Whom an answer names beside its message: what joins its branch is theirs too.
-- Locks: access exclusive on execution for an instant; a column without a default rewrites nothing. Roll-forward; never edited once landed.

-- JSON array of ids; null where it names nobody else, and once it was erased.
alter table execution add column named text;
