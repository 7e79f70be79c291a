import { useState } from 'preact/hooks';
import { useCell } from '../../api/cell.js';
import { my, useMy } from '../../api/commands.js';
import { notificationPermission, notifications } from '../../shell/preferences.js';
import { Button } from '../../ui/button/button.js';
import { Confirm, OnceDialog } from '../../ui/dialog/dialog.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useToastedAct } from '../../ui/form/act.js';
import { OnOff } from '../../ui/form/field.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Code } from '../../ui/text/code.js';
import { Ago } from '../../ui/text/time.js';

/** Ways to hear of what has ended, and of what needs attention. */
export function Notifications() {
  return (
    <>
      <section class="card reading stack">
        <h2>In this browser</h2>
        <InBrowser />
      </section>
      <section class="card reading stack">
        <h2>Atom feed</h2>
        <p class="soft">
          For a feed reader: jobs and batches that ended, GPUs that are offline, and limits that are
          near. It holds nothing of your requests or answers.
        </p>
        <Feed />
      </section>
    </>
  );
}

/** The browser asks for its permission when they are switched on. */
function InBrowser() {
  const isOn = useCell(notifications) === 'on';
  const [isDenied, setDenied] = useState(notificationPermission() === 'denied');
  if (notificationPermission() === null) {
    return <p class="soft">This browser shows notifications only over HTTPS or on localhost.</p>;
  }
  const choose = async (chosen: 'on' | 'off'): Promise<void> => {
    const isGranted = chosen === 'off' || (await Notification.requestPermission()) === 'granted';
    setDenied(!isGranted);
    if (isGranted) notifications.value = chosen;
  };
  return (
    <>
      <div>
        <OnOff
          label="Notifications"
          value={isOn && notificationPermission() === 'granted' ? 'on' : 'off'}
          onValue={(chosen) => void choose(chosen)}
        />
      </div>
      <p class="soft small">
        While this page is open and hidden: jobs and batches that ended, and what needs your
        attention. Kept in this browser.
      </p>
      {isDenied && (
        <p class="warn" role="status">
          This browser blocks notifications of this page. Allow them in its settings for this site.
        </p>
      )}
    </>
  );
}

function Feed() {
  const feed = useMy('feed.show', {}, { everyMs: null });
  return (
    <Loaded of={feed} rows={1}>
      {({ made_at: madeAt }) => <FeedState madeAt={madeAt} onChange={feed.refresh} />}
    </Loaded>
  );
}

interface FeedStateProps {
  /** Unix ms; null: there is none. */
  readonly madeAt: number | null;
  readonly onChange: () => Promise<void>;
}

function FeedState({ madeAt, onChange }: FeedStateProps) {
  const [made, setMade] = useState<string | null>(null);
  const [isEnding, setEnding] = useState(false);
  const create = useToastedAct(async () => {
    setMade((await my('feed.create', {})).url);
    await onChange();
  });
  const end = async (): Promise<void> => {
    await my('feed.revoke', {});
    toast('The feed is revoked: its address opens nothing.');
    await onChange();
  };
  return (
    <>
      {madeAt !== null && (
        <p>
          Its address was made <Ago at={madeAt} />. Anyone who has it can read the feed, and nothing
          else.
        </p>
      )}
      <div class="row">
        <Button icon="link" busy={create.isBusy} onClick={() => void create.run()}>
          {madeAt === null ? 'Create a feed' : 'Replace its address'}
        </Button>
        {madeAt !== null && (
          <Button tone="danger" icon="ban" onClick={() => setEnding(true)}>
            Revoke
          </Button>
        )}
      </div>
      {made !== null && (
        <OnceDialog
          title="The address of your feed"
          what="the address"
          onClose={() => setMade(null)}
        >
          <p>Add it to your feed reader. It is shown only this once.</p>
          <Code inline text={made} label="Copy the address" />
        </OnceDialog>
      )}
      {isEnding && (
        <Confirm
          title="Revoke the feed?"
          text="Feed readers that have its address get nothing from now on."
          verb="Revoke the feed"
          action={end}
          onClose={() => setEnding(false)}
        />
      )}
    </>
  );
}
