import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { TextField } from '../../ui/form/field.js';
import { Page } from '../../ui/page.js';
import { Empty, FaultText } from '../../ui/table/states.js';
import { AskingDevice } from './asking-device.js';
import { ComingDevice } from './coming-device.js';
import { machineOf } from './device-login.js';
import type { DeviceLogin } from './device-login.js';

type Step =
  | { readonly kind: 'typing' }
  | { readonly kind: 'asking'; readonly login: DeviceLogin }
  | { readonly kind: 'approved'; readonly known: ReadonlySet<string>; readonly login: DeviceLogin }
  | { readonly kind: 'denied'; readonly login: DeviceLogin };

const LEAD = 'A machine that runs "gateway-agent login" shows a code. Here you let it in.';

/** Lets a machine in by the code that it shows. */
export function Device() {
  const [step, setStep] = useState<Step>({ kind: 'typing' });
  const again = (): void => setStep({ kind: 'typing' });
  return (
    <Page title="Let a machine in" lead={LEAD}>
      <div>
        <div class="reading">
          {step.kind === 'typing' && (
            <CodeForm onFound={(login) => setStep({ kind: 'asking', login })} />
          )}
          {step.kind === 'asking' && (
            <AskingDevice
              login={step.login}
              onApproved={(known) => setStep({ kind: 'approved', known, login: step.login })}
              onDenied={() => setStep({ kind: 'denied', login: step.login })}
              onBack={again}
            />
          )}
          {step.kind === 'approved' && <ComingDevice login={step.login} known={step.known} />}
          {step.kind === 'denied' && (
            <Empty
              icon="ban"
              title={`${machineOf(step.login)} was not let in.`}
              text="It is told so, and stops asking."
            >
              <Button onClick={again}>Type another code</Button>
            </Empty>
          )}
        </div>
      </div>
    </Page>
  );
}

/** A code that came with the address is typed already, and still compared by whoever presses. */
function CodeForm({ onFound }: { readonly onFound: (login: DeviceLogin) => void }) {
  const { query } = useLocation();
  const [code, setCode] = useState(query['code'] ?? '');
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
          Continue
        </Button>
      </div>
    </form>
  );
}
