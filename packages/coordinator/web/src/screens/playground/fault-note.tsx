import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../../ui/button/icon.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { CopyText } from '../../ui/button/copy.js';
import { Told } from '../../ui/text/told.js';
import type { Shown } from './run-facts.js';
import './fault-note.css';

interface FaultNoteProps {
  readonly fault: Shown;
  /** Runs the request again; `submit`: by the form that it is in. */
  readonly retry?: (() => void) | 'submit';
}

/** The API's error message, and what to do next. */
export function FaultNote({ fault, retry }: FaultNoteProps) {
  return (
    <div class="fault-note" role="alert">
      <Icon name="circle-alert" />
      <div class="stack tight">
        <p>
          <Told text={fault.message} />
        </p>
        <p class="row small soft">
          <span class="mono">{fault.code}</span>
          {fault.requestId !== null && (
            <CopyText
              text={fault.requestId}
              label="Copy the request id"
              {...(SENT.has(fault.code) && { href: `/usage/${fault.requestId}` })}
            />
          )}
          {fault.retryAt !== null && <Countdown until={fault.retryAt} />}
        </p>
        <p class="row">
          {retry !== undefined && <RetryButton retry={retry} />}
          <NextStep code={fault.code} />
        </p>
      </div>
    </div>
  );
}

/** Errors of requests that were sent to a provider: those have a page in Usage. */
const SENT: ReadonlySet<string> = new Set([
  'provider_auth_failed',
  'provider_disconnected',
  'provider_error',
  'provider_rejected',
  'provider_timeout',
]);

function RetryButton({ retry }: Pick<Required<FaultNoteProps>, 'retry'>) {
  const act = retry === 'submit' ? { type: 'submit' as const } : { onClick: retry };
  return (
    <Button small icon="refresh-cw" {...act}>
      Try again
    </Button>
  );
}

const SECOND_MS = 1_000;

function Countdown({ until }: { readonly until: number }) {
  const left = (): number => Math.max(0, Math.ceil((until - SYSTEM_CLOCK.now()) / SECOND_MS));
  const [seconds, setSeconds] = useState(left);
  useEffect(() => {
    const timer = setInterval(() => setSeconds(left), SECOND_MS);
    return () => clearInterval(timer);
  }, [until]);
  // Screen readers do not announce each second: the message has already said how long.
  return (
    <span aria-live="off">
      {seconds === 0 ? 'You can try again now.' : `Again in ${seconds} s`}
    </span>
  );
}

function NextStep({ code }: { readonly code: string }) {
  const step = STEPS[code];
  if (step === undefined) return null;
  return (
    <LinkButton href={step.href} small>
      {step.text}
    </LinkButton>
  );
}

const STEPS: Readonly<Record<string, { readonly href: string; readonly text: string }>> = {
  model_not_found: { href: '/models', text: 'See which models are online' },
  model_offline: { href: '/providers', text: 'See your providers' },
  capacity_exhausted: { href: '/queue', text: 'See the queue' },
  queue_full: { href: '/jobs?active=1', text: 'See your jobs' },
  storage_full: { href: '/library', text: 'Make room in the library' },
};
