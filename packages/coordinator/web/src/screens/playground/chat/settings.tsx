import { useEffect, useState } from 'preact/hooks';
import { Button } from '../../../ui/button/button.js';
import { Field, TextField } from '../../../ui/form/field.js';
import { DEFAULT_SETTINGS } from './chat-request.js';
import type { ChatSettings } from './chat-request.js';

interface SettingsProps {
  readonly settings: ChatSettings;
  readonly onSettings: (settings: ChatSettings) => void;
}

const WIDE = '(min-width: 75rem)';

const NUMBERS = [
  { name: 'temperature', label: 'Temperature', placeholder: '0.7', min: 0, max: 2, step: 0.1 },
  { name: 'topP', label: 'Top p', placeholder: '1', min: 0, max: 1, step: 0.05 },
  { name: 'maxTokens', label: 'Max tokens', placeholder: 'no limit', min: 1, step: 1 },
  {
    name: 'frequencyPenalty',
    label: 'Frequency penalty',
    placeholder: '0',
    min: -2,
    max: 2,
    step: 0.1,
  },
  {
    name: 'presencePenalty',
    label: 'Presence penalty',
    placeholder: '0',
    min: -2,
    max: 2,
    step: 0.1,
  },
] as const;

/** The system prompt and the parameters: open on a wide screen, folded on a narrow one. */
export function Settings({ settings, onSettings }: SettingsProps) {
  const isWide = useWide();
  const set = (changes: Partial<ChatSettings>): void => onSettings({ ...settings, ...changes });
  const isChanged = Object.values(settings).some((value) => value !== '');
  return (
    <details class="play-settings" open={isWide}>
      <summary>Settings{isChanged ? ' (changed)' : ''}</summary>
      <div class="form">
        <Field label="System prompt">
          {(ids) => (
            <textarea
              class="input"
              rows={4}
              {...ids}
              placeholder="You are a helpful assistant."
              value={settings.system}
              onInput={({ currentTarget }) => set({ system: currentTarget.value })}
            />
          )}
        </Field>
        <div class="play-numbers">
          {NUMBERS.map(({ name, ...field }) => (
            <TextField
              key={name}
              {...field}
              type="number"
              inputMode="decimal"
              value={settings[name]}
              onValue={(value) => set({ [name]: value })}
            />
          ))}
        </div>
        <Field label="Stop" hint="One text a line; the model ends before it.">
          {(ids) => (
            <textarea
              class="input"
              rows={2}
              {...ids}
              value={settings.stop}
              onInput={({ currentTarget }) => set({ stop: currentTarget.value })}
            />
          )}
        </Field>
        <div>
          <Button small disabled={!isChanged} onClick={() => onSettings(DEFAULT_SETTINGS)}>
            Back to defaults
          </Button>
        </div>
      </div>
    </details>
  );
}

/** Whether the screen has room for them beside the conversation. */
function useWide(): boolean {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const look = (): void => setWide(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  return isWide;
}
