import { useEffect, useState } from 'preact/hooks';
import { useCell } from '../../../api/cell.js';
import { Button } from '../../../ui/button/button.js';
import { CopyButton } from '../../../ui/button/copy.js';
import { toastFault } from '../../../ui/dialog/toasts.js';
import { toastUndo } from '../../../ui/dialog/undo.js';
import { useToastedAct } from '../../../ui/form/act.js';
import { Field, SelectField, TextField } from '../../../ui/form/field.js';
import { FormDialog } from '../../../ui/form/form-dialog.js';
import {
  DEFAULT_SETTINGS,
  MAX_PRESET_NAME_CHARACTERS,
  NUMBERS,
  isChanged,
  linkOf,
} from './chat-settings.js';
import type { ChatSettings } from './chat-settings.js';
import { presets, removePreset, savePreset } from './chat-state.js';

interface SettingsProps {
  readonly settings: ChatSettings;
  /** For the link. */
  readonly model: string;
  readonly onSettings: (settings: ChatSettings) => void;
}

const WIDE = '(min-width: 75rem)';

/** The system prompt and the parameters: open on a wide screen, folded on a narrow one. */
export function Settings({ settings, model, onSettings }: SettingsProps) {
  const isWide = useWide();
  const set = (changes: Partial<ChatSettings>): void => onSettings({ ...settings, ...changes });
  return (
    <details class="play-settings" open={isWide}>
      <summary>Settings{isChanged(settings) ? ' (changed)' : ''}</summary>
      <div class="form">
        <Presets settings={settings} onSettings={onSettings} />
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
          {NUMBERS.map(({ name, label, placeholder, min, max, step }) => (
            <TextField
              key={name}
              {...{ label, placeholder, min, max, step }}
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
        <div class="row">
          <Button disabled={!isChanged(settings)} onClick={() => onSettings(DEFAULT_SETTINGS)}>
            Back to defaults
          </Button>
          <LinkOfSettings settings={settings} model={model} />
        </div>
      </div>
    </details>
  );
}

/** A link that opens the playground with this model and these settings. */
function LinkOfSettings({ settings, model }: Omit<SettingsProps, 'onSettings'>) {
  const link = linkOf(location.origin, model, settings);
  if (link !== null) return <CopyButton text={link} label="Copy link" />;
  return <span class="small soft">Too long for a link: save a preset.</span>;
}

type PresetsProps = Omit<SettingsProps, 'model'>;

/** Settings that this browser keeps under a name. */
function Presets({ settings, onSettings }: PresetsProps) {
  const kept = useCell(presets);
  const [isNamed, setNamed] = useState(false);
  // The chosen one is the one with these settings: to change a setting leaves it.
  const chosen = kept.find((one) => areSame(one.settings, settings));
  const remove = useToastedAct(async () => {
    if (chosen === undefined) return;
    await removePreset(chosen.name);
    toastUndo(`The preset “${chosen.name}” was deleted.`, () => {
      void savePreset(chosen).catch(toastFault);
    });
  });
  const options = kept.map(({ name }) => ({ value: name, label: name }));
  const apply = (name: string): void => {
    onSettings(kept.find((one) => one.name === name)?.settings ?? DEFAULT_SETTINGS);
  };
  return (
    <div class="stack tight">
      {kept.length > 0 && (
        <SelectField
          label="Preset"
          value={chosen?.name ?? ''}
          options={[{ value: '', label: 'None' }, ...options]}
          onValue={apply}
        />
      )}
      <div class="row">
        <Button small disabled={!isChanged(settings)} onClick={() => setNamed(true)}>
          Save as preset…
        </Button>
        {chosen !== undefined && (
          <Button small busy={remove.isBusy} onClick={() => void remove.run()}>
            Delete preset
          </Button>
        )}
      </div>
      {isNamed && <PresetDialog settings={settings} onClose={() => setNamed(false)} />}
    </div>
  );
}

function areSame(one: ChatSettings, other: ChatSettings): boolean {
  const names = Object.keys(DEFAULT_SETTINGS) as (keyof ChatSettings)[];
  return names.every((name) => one[name] === other[name]);
}

interface PresetDialogProps {
  readonly settings: ChatSettings;
  readonly onClose: () => void;
}

function PresetDialog({ settings, onClose }: PresetDialogProps) {
  const [name, setName] = useState('');
  const isTaken = useCell(presets).some((one) => one.name === name.trim());
  return (
    <FormDialog
      title="Save these settings as a preset"
      verb={isTaken ? 'Replace' : 'Save'}
      action={() => savePreset({ name: name.trim(), settings })}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint={isTaken ? 'This replaces the preset of that name.' : 'Only this browser keeps it.'}
        maxLength={MAX_PRESET_NAME_CHARACTERS}
        required
        autofocus
        value={name}
        onValue={setName}
      />
    </FormDialog>
  );
}

/** Whether the screen has room for them beside the conversation. */
export function useWide(): boolean {
  const [isWide, setWide] = useState(() => matchMedia(WIDE).matches);
  useEffect(() => {
    const query = matchMedia(WIDE);
    const look = (): void => setWide(query.matches);
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  return isWide;
}
