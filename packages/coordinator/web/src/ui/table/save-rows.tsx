import { Button } from '../button/button.js';
import { recordsToCsv } from '../text/csv.js';
import { saveText } from '../text/save-text.js';

interface SaveRowsProps {
  /** Of the file, without its ending: `jobs`. */
  readonly name: string;
  /** Rows of the API, as they are shown. */
  readonly rows: readonly object[];
}

/** Saves the rows that are shown, with all their fields. */
export function SaveRows({ name, rows }: SaveRowsProps) {
  const saveCsv = (): void => saveText(`${name}.csv`, 'text/csv', recordsToCsv(rows));
  const saveJson = (): void =>
    saveText(`${name}.json`, 'application/json', JSON.stringify(rows, null, 2));
  return (
    <p class="save-rows small soft">
      Save as
      <Button small tone="quiet" onClick={saveCsv}>
        CSV
      </Button>
      <Button small tone="quiet" onClick={saveJson}>
        JSON
      </Button>
    </p>
  );
}
