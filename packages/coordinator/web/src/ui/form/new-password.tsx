import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { Button } from '../button/button.js';
import { useAct } from './act.js';
import { OtherFault, wrongIn } from './other-fault.js';
import { NewPasswordField, PasswordField } from './password-field.js';

interface Typed {
  readonly password: string;
  /** Empty if it is not asked for. */
  readonly current: string;
}

const NOTHING: Typed = { password: '', current: '' };

interface NewPasswordFormProps {
  /** A card of a screen, instead of the whole page. */
  readonly isCard?: boolean;
  /** Whether it asks for the password that the member has now. */
  readonly asksCurrent?: boolean;
  /** Label of its button. */
  readonly verb: string;
  readonly action: (typed: Typed) => Promise<void>;
  /** Above the fields. */
  readonly children?: ComponentChildren;
  /** Below the fields. */
  readonly note?: string;
}

/** The form in which members choose a new password for themselves. */
export function NewPasswordForm(props: NewPasswordFormProps) {
  const { isCard = false, asksCurrent = false, verb, action, children, note } = props;
  const [typed, setTyped] = useState(NOTHING);
  const act = useAct(async () => {
    await action(typed);
    setTyped(NOTHING);
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  const field = (name: keyof Typed) => ({
    wrong: wrongIn(act.fault, name),
    value: typed[name],
    onValue: (value: string) => setTyped({ ...typed, [name]: value }),
  });
  const button = (
    <Button type="submit" tone="primary" busy={act.isBusy}>
      {verb}
    </Button>
  );
  return (
    <form class={isCard ? 'card form reading' : 'form'} onSubmit={submit}>
      {children}
      {asksCurrent && (
        <PasswordField
          label="Current password"
          autocomplete="current-password"
          {...field('current')}
        />
      )}
      <NewPasswordField label="New password" {...field('password')} />
      <OtherFault fault={act.fault} fields={FIELDS} />
      {note !== undefined && <p class="soft small">{note}</p>}
      {isCard ? <div class="row">{button}</div> : button}
    </form>
  );
}

/** Fields that show their own errors. */
const FIELDS = ['current', 'password'];
