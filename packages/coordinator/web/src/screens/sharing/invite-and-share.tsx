import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useMy } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Icon } from '../../ui/button/icon.js';
import { Dialog, OnceDialog } from '../../ui/dialog/dialog.js';
import { useAct } from '../../ui/form/act.js';
import { Check, SelectField, TextField } from '../../ui/form/field.js';
import { OtherFault, wrongIn } from '../../ui/form/other-fault.js';
import { FaultState, Loading } from '../../ui/table/states.js';
import { Code } from '../../ui/text/code.js';
import { Ago } from '../../ui/text/time.js';
import { carryOut } from './carry-out.js';
import type { Carried, MadeInvite, WishedShare } from './carry-out.js';
import { matrixRows } from './matrix-rows.js';
import type { MatrixRow } from './matrix-rows.js';
import { shareFor, useGivenShares, useNetworks } from './shares.js';
import type { GivenShare, OwnProvider } from './shares.js';
import './sharing.css';

interface InviteAndShareProps {
  readonly onClose: () => void;
}

/** One dialog for a network, what is shared with it, and the link for somebody new. */
export function InviteAndShare({ onClose }: InviteAndShareProps) {
  const [carried, setCarried] = useState<Carried | null>(null);
  const networks = useNetworks();
  const providers = useMy('provider.list', {}, { topics: ['providers'] });
  const shares = useGivenShares();
  const invites = useMy('user.invites', {});
  const all = [networks, providers, shares];
  const refresh = () => Promise.all([...all, invites].map((one) => one.refresh()));
  const show = async (done: Carried): Promise<void> => {
    // The list of networks has a new one before it is chosen in the form.
    await refresh();
    setCarried(done);
  };
  const fault = all.find((one) => one.data === undefined && one.fault !== null)?.fault;
  if (!networks.data || !providers.data || !shares.data) {
    return (
      <Dialog title={TITLE} onClose={onClose}>
        {fault ? <FaultState fault={fault} onRetry={() => void refresh()} /> : <Loading rows={6} />}
      </Dialog>
    );
  }
  const given = { networks: networks.data, providers: providers.data, shares: shares.data };
  if (carried === null) {
    return (
      <Dialog title={TITLE} onClose={onClose}>
        <Form {...given} left={null} onCarried={show} onClose={onClose} />
      </Dialog>
    );
  }
  return (
    <Result carried={carried} onClose={onClose}>
      {hasFailed(carried) && (
        <Form
          {...given}
          left={carried}
          onCarried={(next) => show(joined(carried, next))}
          {...(carried.invite === null && { onClose })}
        />
      )}
    </Result>
  );
}

const TITLE = 'Invite and share';

function hasFailed({ failed, inviteFault }: Carried): boolean {
  return failed.length > 0 || inviteFault !== null;
}

/** What was done before stays shown when the rest is tried again. */
function joined(before: Carried, next: Carried): Carried {
  return {
    ...next,
    isNew: before.isNew,
    shared: [...before.shared, ...next.shared],
    warnings: [...before.warnings, ...next.warnings],
    invite: next.invite ?? before.invite,
  };
}

const LIVES = [
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
  { value: '2592000', label: '30 days' },
] as const;

/** The option that creates a network. */
const NEW = 'new';

type Network = NonNullable<ReturnType<typeof useNetworks>['data']>[number];

interface FormProps {
  readonly networks: readonly Network[];
  readonly providers: readonly OwnProvider[];
  readonly shares: readonly GivenShare[];
  /** An earlier try, whose failed parts are chosen again. */
  readonly left: Carried | null;
  readonly onCarried: (carried: Carried) => Promise<void>;
  /** Absent: the dialog has its own button. */
  readonly onClose?: () => void;
}

function Form({ networks, providers, shares, left, onCarried, onClose }: FormProps) {
  // Their own networks come first: they can invite into these.
  const sorted = networks.toSorted((a, b) => Number(b.own) - Number(a.own));
  const [id, setId] = useState(left?.network.id ?? sorted[0]?.id ?? NEW);
  const [newName, setNewName] = useState('');
  const [email, setEmail] = useState('');
  const [life, setLife] = useState<(typeof LIVES)[number]['value']>('604800');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    new Set(left?.failed.map(({ share }) => share.key)),
  );
  const network = networks.find((one) => one.id === id);
  const isOwn = network === undefined || network.own;
  const options = optionsOf({ providers, shares, network: network?.id ?? null, chosen });
  const wished = options.filter(({ isWished }) => isWished).map(({ share }) => share);
  const address = isOwn ? email.trim() : '';
  const act = useAct(async () => {
    const of = network ?? { newName: newName.trim() };
    const plan = { network: of, shares: wished, email: address, expiresInS: Number(life) };
    await onCarried(await carryOut(plan));
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  const isEmpty = wished.length === 0 && address === '';
  return (
    <form class="form" onSubmit={submit}>
      <SelectField
        label="Network"
        value={id}
        options={[
          ...sorted.map((one) => ({ value: one.id, label: labelOf(one) })),
          { value: NEW, label: 'New network…' },
        ]}
        onValue={setId}
      />
      {network === undefined && (
        <TextField
          label="Name of the network"
          hint="Its members see it."
          required
          autocomplete="off"
          maxLength={64}
          wrong={wrongIn(act.fault, 'name')}
          value={newName}
          onValue={setNewName}
        />
      )}
      <ShareChoice
        options={options}
        onToggle={(key, isOn) => setChosen(isOn ? new Set([...chosen, key]) : without(chosen, key))}
      />
      {isOwn ? (
        <>
          <TextField
            label="E-mail"
            hint={INVITED}
            type="email"
            autocomplete="off"
            value={email}
            onValue={setEmail}
          />
          {address !== '' && (
            <SelectField label="Link good for" value={life} options={LIVES} onValue={setLife} />
          )}
        </>
      ) : (
        <p class="soft small">Only its owner, {network.owner}, invites people into it.</p>
      )}
      <OtherFault fault={act.fault} fields={['name']} />
      <div class="dialog-foot">
        {onClose && <Button onClick={onClose}>{left === null ? 'Cancel' : 'Close'}</Button>}
        <Button type="submit" tone="primary" busy={act.isBusy} disabled={isEmpty}>
          {verbOf(wished.length > 0, address !== '')}
        </Button>
      </div>
    </form>
  );
}

const INVITED =
  'The address with which the invited person will log in. Nothing is sent to it: you give them ' +
  'the link yourself. Leave it empty to share only.';

function labelOf({ name, own, owner }: Network): string {
  return own ? name : `${name} (of ${owner})`;
}

function without(set: ReadonlySet<string>, key: string): ReadonlySet<string> {
  return new Set([...set].filter((one) => one !== key));
}

function verbOf(shares: boolean, invites: boolean): string {
  if (shares && invites) return 'Share and create the link';
  return invites || !shares ? 'Create the link' : 'Share';
}

interface ShareOption {
  readonly share: WishedShare;
  /** It is shared already, alone or as a part of everything. */
  readonly isShared: boolean;
  /** Everything of its provider is chosen. */
  readonly isIncluded: boolean;
  readonly isWished: boolean;
}

interface OptionsInput {
  readonly providers: readonly OwnProvider[];
  readonly shares: readonly GivenShare[];
  /** Null: a new one, with which nothing is shared. */
  readonly network: string | null;
  readonly chosen: ReadonlySet<string>;
}

/** Whole providers and their services; single models have their place in the matrix. */
function optionsOf({ providers, shares, network, chosen }: OptionsInput): ShareOption[] {
  const { rows } = matrixRows(providers, shares, false);
  const wholes = new Map(rows.map((row) => [row.provider.id, row] as const).toReversed());
  const isShared = ({ provider, subject }: MatrixRow): boolean =>
    network !== null &&
    shareFor(
      shares.filter(({ provider_id: id }) => id === provider.id),
      subject,
      { kind: 'network', id: network, name: '' },
    ) !== undefined;
  return rows
    .filter(({ kind }) => kind !== 'model')
    .map((row) => {
      const whole = row.kind === 'service' ? wholes.get(row.provider.id) : undefined;
      const isDone = isShared(row) || (whole !== undefined && isShared(whole));
      const isIncluded = whole !== undefined && chosen.has(whole.key);
      const isWished = chosen.has(row.key) && !isDone && !isIncluded;
      return { share: shareOf(row), isShared: isDone, isIncluded, isWished };
    });
}

function shareOf({ key, provider, subject, what }: MatrixRow): WishedShare {
  return { key, providerId: provider.id, subject, what: `${provider.name}: ${what}` };
}

interface ShareChoiceProps {
  readonly options: readonly ShareOption[];
  readonly onToggle: (key: string, isOn: boolean) => void;
}

function ShareChoice({ options, onToggle }: ShareChoiceProps) {
  if (options.length === 0) {
    return (
      <p class="soft small">
        You have no GPU to share yet: <a href="/providers?new=1">add one</a>, or only invite.
      </p>
    );
  }
  return (
    <fieldset class="share-choice">
      <legend>What you share with it</legend>
      {options.map(({ share, isShared, isIncluded, isWished }) => (
        <Check
          key={share.key}
          label={isShared ? `${share.what} (shared already)` : share.what}
          checked={isShared || isIncluded || isWished}
          disabled={isShared || isIncluded}
          onChecked={(isOn) => onToggle(share.key, isOn)}
        />
      ))}
      <p class="soft small">Your own calls come first. Single models and limits: on Network.</p>
    </fieldset>
  );
}

interface ResultProps {
  readonly carried: Carried;
  readonly onClose: () => void;
  /** The form for what has failed. */
  readonly children: ComponentChildren;
}

function Result({ carried, onClose, children }: ResultProps) {
  const { invite } = carried;
  const lines = linesOf(carried);
  const content = (
    <>
      {invite !== null && <InviteLink invite={invite} />}
      <div role="status">
        {lines.length > 0 && (
          <ul class="carried">
            {lines.map(({ isGood, text }) => (
              <li key={text} class={isGood ? 'good' : 'bad'}>
                <Icon name={isGood ? 'circle-check' : 'circle-alert'} />
                <span>{text}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
      {children}
    </>
  );
  if (invite !== null) {
    return (
      <OnceDialog title={`The invite for ${invite.email}`} what="the link" onClose={onClose}>
        {content}
      </OnceDialog>
    );
  }
  return (
    <Dialog title={TITLE} onClose={onClose}>
      <div class="stack">{content}</div>
      {!hasFailed(carried) && (
        <div class="dialog-foot">
          <LinkButton href="/network">Go to Network</LinkButton>
          <Button tone="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      )}
    </Dialog>
  );
}

interface Line {
  readonly isGood: boolean;
  readonly text: string;
}

function good(text: string): Line {
  return { isGood: true, text };
}

function bad(text: string): Line {
  return { isGood: false, text };
}

/** What was done and what was not, a line each. */
function linesOf(carried: Carried): readonly Line[] {
  const { network, isNew, shared, warnings, failed, inviteFault } = carried;
  return [
    ...(isNew ? [good(`The network ${network.name} is created.`)] : []),
    ...shared.map(({ what }) => good(`Shared with ${network.name}: ${what}.`)),
    ...warnings.map(bad),
    ...failed.map(({ share, message }) => bad(`Not shared: ${share.what}. ${message}`)),
    ...(inviteFault === null ? [] : [bad(`Nobody is invited. ${inviteFault}`)]),
  ];
}

/** The whole link, which is shown only once. */
function InviteLink({ invite }: { readonly invite: MadeInvite }) {
  const origin = invite.origin ?? currentSession().gateway.public_url;
  return (
    <>
      <p>
        Give them this link yourself. Anybody who has it can join {invite.network} once, as{' '}
        {invite.email}; it ends <Ago at={invite.expires_at} />. It is not shown again.
      </p>
      <Code text={`${origin}/join#${invite.secret}`} label="Copy the invite link" />
    </>
  );
}
