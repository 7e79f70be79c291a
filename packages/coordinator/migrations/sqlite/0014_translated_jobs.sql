-- The API of a request that was translated to that of its endpoint; null for all others.
alter table jobs add column api text;

-- JSON: what the job's answer needs of its request to be translated back.
alter table job_bodies add column context text check (context is null or json_valid(context));
