import { LinkButton } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { Welcome } from './welcome.js';

/** Instead of the log-in, while nobody is a member: says where the setup link is. */
export function NotSetUp() {
  return (
    <Welcome title="This gateway is not set up yet" lead={LEAD}>
      <p>
        <code>gateway-coordinator start</code> has printed it. It is also in the file{' '}
        <code>setup-link</code> in the data folder of the coordinator, for example:
      </p>
      <Code text="sudo cat /var/lib/gateway/setup-link" label="Copy the command" />
      <p class="soft small">
        The folder is the one that the setting <code>GATEWAY_DATA</code> or the option{' '}
        <code>--data</code> names.
      </p>
      <div class="row">
        <LinkButton href="/setup">I have the link</LinkButton>
      </div>
    </Welcome>
  );
}

const LEAD = 'Nobody is a member. Who opens the setup link first becomes the admin.';
