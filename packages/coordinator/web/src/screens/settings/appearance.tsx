import { useCell } from '../../api/cell.js';
import { setTheme, theme } from '../../shell/theme.js';
import { Segments } from '../../ui/form/field.js';

const THEMES = [
  { value: 'system', label: 'As the system' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
] as const;

export function Appearance() {
  return (
    <section class="card reading stack">
      <h2>Theme</h2>
      <div>
        <Segments label="Theme" value={useCell(theme)} options={THEMES} onValue={setTheme} />
      </div>
      <p class="soft small">Kept in this browser.</p>
    </section>
  );
}
