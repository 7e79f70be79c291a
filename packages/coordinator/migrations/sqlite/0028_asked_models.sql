-- What the caller wrote instead of the model that served: null if it was the model itself.
alter table usage add column alias text;
