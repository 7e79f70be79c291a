-- Joules that the card took for the request, its share if others ran beside it; null: unknown.
alter table usage add column energy_j real;
