-- Whoever decides by what was seen outside proves it from the tree.
-- Locks: none beyond those of a grant.

grant select on audit.tree_hash to audit_archiver;
