-- When a member closed the checklist of first steps on their home screen, in Unix ms; null: it is
-- shown until every step is done.
alter table members add column if not exists checklist_closed_at bigint;
