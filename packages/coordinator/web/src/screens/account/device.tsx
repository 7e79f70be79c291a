import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { my, useMy, readMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { useAct } from '../../ui/form/act.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { TextField } from '../../ui/form/field.js';
import { Page } from '../../ui/page.js';
import { Empty, FaultText } from '../../ui/table/states.js';
import { Facts } from '../../ui/text/facts.js';
import { Ago } from '../../ui/text/time.js';

type Step =
  | { readonly kind: 'typing' }
  | { readonly kind: 'asking'; readonly login: DeviceLogin }
  | { readonly kind: 'approved'; readonly known: ReadonlySet<string>; readonly login: DeviceLogin }
  | { readonly kind: 'denied'; readonly login: DeviceLogin };

const LEAD = 'A machine that runs "gateway-agent login" shows a code. Here you let it in.';

/** Approves the log-in of a machine by the code that the machine shows. */
export function Device() {
  const code = useLocation().query['code'] ?? '';
  return (
    <Page title="Add a machine" lead={LEAD}>
      <div>
        <div class="reading">
          <DeviceCode code={code} />
        </div>
      </div>
    </Page>
  );
}

interface DeviceCodeProps {
  /** Filled in, but the member must still compare and confirm it. */
  readonly code?: string;
  /** Called when the log-in of a machine is known, and with false when another code is typed. */
  readonly onStep?: (isTyped: boolean) => void;
}

/** From the code to the machine that is online, step by step. */
export function DeviceCode({ code = '', onStep }: DeviceCodeProps) {
  const [step, setStep] = useState<Step>({ kind: 'typing' });
  const go = (next: Step): void => {
    setStep(next);
    onStep?.(next.kind !== 'typing');
  };
  const again = (): void => go({ kind: 'typing' });
  switch (step.kind) {
    case 'typing':
      return <CodeForm code={code} onFound={(login) => go({ kind: 'asking', login })} />;
    case 'asking':
      return (
        <AskingDevice
          login={step.login}
          onApproved={(known) => go({ kind: 'approved', known, login: step.login })}
          onDenied={() => go({ kind: 'denied', login: step.login })}
          onBack={again}
        />
      );
    case 'approved':
      return <ComingDevice login={step.login} known={step.known} />;
    case 'denied':
      return (
        <Empty
          icon="ban"
          title={`${machineOf(step.login)} was not let in.`}
          text="Its agent is told, and stops asking."
        >
          <Button onClick={again}>Type another code</Button>
        </Empty>
      );
  }
}

interface CodeFormProps {
  readonly code: string;
  readonly onFound: (login: DeviceLogin) => void;
}

function CodeForm({ code: given, onFound }: CodeFormProps) {
  const [code, setCode] = useState(given);
  const act = useAct(async () => onFound(await my('device.find', { code })));
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="card form" onSubmit={submit}>
      <TextField
        label="Code"
        hint="Eight letters, as the machine shows them: BCDF-GHJK."
        autocomplete="off"
        required
        maxLength={16}
        value={code}
        onValue={setCode}
      />
      <FaultText fault={act.fault} />
      <div class="row">
        <Button type="submit" tone="primary" busy={act.isBusy}>
          Look it up
        </Button>
      </div>
    </form>
  );
}

interface ComingDeviceProps {
  readonly login: DeviceLogin;
  /** Ids of the providers that existed before the approval. */
  readonly known: ReadonlySet<string>;
}

/** After the approval: the machine fetches its token within seconds, and connects. */
function ComingDevice({ login, known }: ComingDeviceProps) {
  const { data } = useMy('provider.list', {}, { topics: ['providers'] });
  const provider = data?.find(({ id }) => !known.has(id));
  return <div role="status">{provider?.online ? <Online {...provider} /> : waiting(login)}</div>;
}

function waiting(login: DeviceLogin) {
  return (
    <Empty
      icon="clock"
      title={`Approved. Waiting for ${machineOf(login)} to connect…`}
      text="Its agent asks every few seconds. If nothing happens, look at its terminal."
    />
  );
}

function Online({ id, name, approved }: MyResult<'provider.list'>[number]) {
  const text = approved
    ? 'You can use its models now. Others can once you share them.'
    : 'An admin has to approve it before it gets work.';
  return (
    <Empty icon="circle-check" title={`${name} is online.`} text={text}>
      <LinkButton tone="primary" href={`/providers/${id}`}>
        Choose what to share
      </LinkButton>
    </Empty>
  );
}

interface AskingDeviceProps {
  readonly login: DeviceLogin;
  /** Called with the ids of the providers that existed before the approval. */
  readonly onApproved: (known: ReadonlySet<string>) => void;
  readonly onDenied: () => void;
  readonly onBack: () => void;
}

/** Shows the log-in, so that the member can compare it with the machine's own display. */
function AskingDevice({ login, onApproved, onDenied, onBack }: AskingDeviceProps) {
  const { code } = login;
  const approve = useAct(async () => {
    const before = await readMy('provider.list', {});
    await my('device.approve', { code });
    onApproved(new Set(before.map(({ id }) => id)));
  });
  const deny = useAct(async () => {
    await my('device.deny', { code });
    onDenied();
  });
  const isBusy = approve.isBusy || deny.isBusy;
  return (
    <section class="card stack">
      <h2>Is this your machine?</h2>
      <Facts rows={rowsOf(login)} />
      <p class="soft">
        Approve it only if it shows this code now, and you started the log-in yourself. It will run
        your work, and the work of everybody you share it with. Nothing is shared yet.
      </p>
      <FaultText fault={approve.fault ?? deny.fault} />
      <div class="row">
        <Button tone="primary" busy={isBusy} onClick={() => void approve.run()}>
          Approve {machineOf(login)}
        </Button>
        <Button tone="danger" busy={isBusy} onClick={() => void deny.run()}>
          Deny
        </Button>
        <Button tone="quiet" disabled={isBusy} onClick={onBack}>
          Back
        </Button>
      </div>
    </section>
  );
}

function rowsOf({ code, name, host, address, created_at, expires_at, owner }: DeviceLogin) {
  return [
    ['Code', <span class="mono">{code}</span>],
    ['Name', name ?? 'chosen when it joins'],
    ['Host', host],
    ['Address', <span class="mono">{address}</span>],
    ['Asked', <Ago at={created_at} />],
    ['Code expires', <Ago at={expires_at} />],
    ['Owner', `${owner} (you)`],
  ] as const;
}

/** A log-in that waits for approval. */
type DeviceLogin = MyResult<'device.find'>;

/** A short name that somebody in front of the machine recognizes. */
function machineOf({ name, host, address }: DeviceLogin): string {
  return name ?? host ?? address;
}
