import type { JobDetail } from '../../api/jobs.js';
import { LinkButton } from '../../ui/button/button.js';
import { Icon } from '../../ui/button/icon.js';

type Failure = NonNullable<JobDetail['error']>;

/** Why it failed, and what can be done about it. */
export function JobError({ error }: { readonly error: Failure }) {
  const step = STEPS[error.code ?? ''] ?? OTHERWISE;
  return (
    <section class="card">
      <h2 class="row bad">
        <Icon name="circle-x" />
        Failed
        <span class="mono small">{error.code}</span>
      </h2>
      <p>{error.message}</p>
      <p class="row soft">
        <span>{step.text}</span>
        {step.href !== undefined && (
          <LinkButton small href={step.href}>
            {step.link}
          </LinkButton>
        )}
      </p>
    </section>
  );
}

interface Step {
  readonly text: string;
  readonly href?: string;
  readonly link?: string;
}

const OTHERWISE: Step = { text: 'Retry runs the same request once more.' };
const ABSENT: Step = {
  text: 'Retry when somebody who shares this model with you is online.',
  href: '/providers',
  link: 'Go to Providers',
};
const ASK_ANEW: Step = {
  text: 'A retry would be refused in the same way: change the request and submit it anew.',
};
const LOCAL: Step = {
  text: 'The model server at the provider failed. Look at it if it is yours, then retry.',
  href: '/providers',
  link: 'Go to Providers',
};

const STEPS: Readonly<Record<string, Step>> = {
  no_provider: ABSENT,
  model_offline: ABSENT,
  model_not_found: ABSENT,
  context_length_exceeded: ASK_ANEW,
  provider_rejected: ASK_ANEW,
  provider_error: LOCAL,
  provider_timeout: LOCAL,
  provider_auth_failed: LOCAL,
  max_retries_exhausted: LOCAL,
  storage_full: {
    text: 'Delete files that you do not need any more, then retry.',
    href: '/library',
    link: 'Go to Library',
  },
};
