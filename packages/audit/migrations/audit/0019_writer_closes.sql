-- Who appends closes subjects: the role that erases could close people that nobody erases, and hold the lock for it, and so stop
-- what is recorded of them. It takes both roles now: one writes the erasure, which the auditor proves, the other closes.
-- Locks: none beyond those of a grant. Run by a superuser; an auditor of before carries out no erasure afterwards.

set local role audit_owner;

revoke execute on function audit.close_subjects from audit_eraser;
grant execute on function audit.close_subjects to audit_writer;

reset role;
