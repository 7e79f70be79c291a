import { logIn } from '../../api/log-in.js';
import { postJson } from '../../api/request.js';
import { useLinkSecret } from './link-secret.js';
import { NewMemberForm } from './new-member.js';
import type { NewMember } from './new-member.js';
import { Welcome } from './welcome.js';

const LINK = { label: 'Invite link', hint: 'The whole link from your invite. It works once.' };

/** With an invite one becomes a member, and is in. */
export function Join() {
  const secret = useLinkSecret();
  return (
    <Welcome title="Join" lead="You are invited. Choose how others see you, and a password.">
      <NewMemberForm
        secret={secret}
        link={LINK}
        nameHint="Everybody in your networks sees it."
        verb="Join"
        action={join}
      >
        <p class="soft small">
          Joined already? <a href="/login">Log in</a>
        </p>
      </NewMemberForm>
    </Welcome>
  );
}

async function join({ token, name, password }: NewMember): Promise<void> {
  const { email } = await postJson<{ readonly email: string }>('/api/join', {
    token,
    name,
    password,
  });
  await logIn(email, password);
}
