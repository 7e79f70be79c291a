import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { TextField } from '../../ui/form/field.js';
import { NameField } from '../../ui/form/name-field.js';
import { OtherFault, wrongIn } from '../../ui/form/other-fault.js';
import { NewPasswordField } from '../../ui/form/password-field.js';

export interface NewMember {
  /** The secret of the link, or the whole link. */
  readonly token: string;
  readonly name: string;
  /** Empty if the link contains it. */
  readonly email: string;
  readonly password: string;
}

interface NewMemberFormProps {
  /** Empty if the page was opened without the link: then the form asks for it. */
  readonly secret: string;
  readonly link: { readonly label: string; readonly hint: string };
  readonly nameHint: string;
  readonly needsEmail?: boolean;
  /** Label of its button. */
  readonly verb: string;
  readonly action: (typed: NewMember) => Promise<void>;
  readonly children?: ComponentChildren;
}

/** The form for new members with a link: a public name and a password. */
export function NewMemberForm(props: NewMemberFormProps) {
  const { secret, link, nameHint, needsEmail = false, verb, action, children } = props;
  const [typed, setTyped] = useState({ token: secret, name: '', email: '', password: '' });
  const act = useAct(() => action(typed));
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  const field = (name: keyof NewMember) => ({
    wrong: wrongIn(act.fault, name),
    value: typed[name],
    onValue: (value: string) => setTyped({ ...typed, [name]: value }),
  });
  return (
    <form class="form" onSubmit={submit}>
      {secret === '' && <TextField {...link} required {...field('token')} wrong={null} />}
      <NameField hint={nameHint} autocomplete="nickname" {...field('name')} />
      {needsEmail && (
        <TextField
          label="E-mail"
          hint="You log in with it."
          type="email"
          autocomplete="username"
          required
          {...field('email')}
        />
      )}
      <NewPasswordField label="Password" {...field('password')} />
      <OtherFault fault={act.fault} fields={FIELDS} />
      <Button type="submit" tone="primary" busy={act.isBusy}>
        {verb}
      </Button>
      {children}
    </form>
  );
}

/** Fields that show their own errors. */
const FIELDS = ['name', 'email', 'password'];
