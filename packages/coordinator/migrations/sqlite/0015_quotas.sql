-- Rules of keys and quotas of members, as JSON: what they may use in a day and in a month.

alter table api_keys add column rules text check (rules is null or json_valid(rules));
alter table members add column quota text check (quota is null or json_valid(quota));

create trigger api_keys_rules_changed after update of rules on api_keys
begin update epochs set value = value + 1 where name = 'keys'; end;

create trigger members_quota_changed after update of quota on members
begin update epochs set value = value + 1 where name = 'keys'; end;
