-- The key of a batch and of a file: a restricted key sees only its own. Null: no longer known.

alter table batches add column key_id text;
update batches set key_id = (select key_id from jobs where batch_id = batches.id limit 1);

-- It refuses every change of an asset; this one does not touch the sums that it protects.
drop trigger asset_stays;
alter table assets add column key_id text;
update assets set key_id = coalesce(
  (select key_id from jobs join job_assets on job_id = jobs.id where asset_id = assets.id),
  (select key_id from usage where usage.request_id = assets.request_id));

create trigger asset_stays before update on assets begin
  select raise(abort, 'an asset does not change');
end;
