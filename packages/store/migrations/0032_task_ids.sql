-- Ids of tasks are of version 4, as messages name them. Those of version 8 are Baton's own, under which the log has what was done to
-- the installation: nobody's task stands under one.
-- Locks: access exclusive on task for an instant: what is there is not read. Roll-forward; never edited once landed.

alter table task add constraint task_id_of_sender check (get_byte(uuid_send(id), 6) >> 4 = 4) not valid;
