import { INFERENCE_TYPES } from '@inference-gateway/shared/endpoints';
import { JOB_STATUSES } from '../../api/jobs.js';
import { Button } from '../../ui/button/button.js';
import { SelectField, TextField } from '../../ui/form/field.js';
import type { JobFilter } from './job-filter.js';

const STATUS_OPTIONS = [
  { value: '', label: 'Any status' },
  { value: 'active', label: 'Active: queued or processing' },
  ...JOB_STATUSES.map((value) => ({ value, label: value })),
];
const TYPE_OPTIONS = [
  { value: '', label: 'Any type' },
  ...INFERENCE_TYPES.map((value) => ({ value, label: value })),
];

/** What the coordinator looks for at most. */
const MAX_MODEL_CHARACTERS = 256;

export function FilterBar({ filter }: { readonly filter: JobFilter }) {
  const { status, type, model, setStatus, setType, setModel } = filter;
  return (
    <search class="filter-bar">
      <SelectField label="Status" value={status} options={STATUS_OPTIONS} onValue={setStatus} />
      <SelectField label="Type" value={type} options={TYPE_OPTIONS} onValue={setType} />
      <TextField
        label="Model"
        type="search"
        placeholder="Part of its name"
        maxLength={MAX_MODEL_CHARACTERS}
        value={model}
        onValue={setModel}
      />
      <Button
        tone="quiet"
        icon="x"
        disabled={filter.asked === '' && model === ''}
        onClick={filter.clear}
      >
        Clear
      </Button>
    </search>
  );
}
