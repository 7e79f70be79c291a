import { useState } from 'preact/hooks';
import { admin } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { toast } from '../../ui/dialog/toasts.js';

interface PauseButtonProps {
  readonly isPaused: boolean;
  readonly onDone: () => Promise<void>;
}

/** For admins: pausing concerns the queue of all members, so it asks for confirmation. */
export function PauseButton({ isPaused, onDone }: PauseButtonProps) {
  const [isAsking, setAsking] = useState(false);
  const resume = useToastedAct(async () => {
    await admin('queue.resume', {});
    await onDone();
    toast('The queue runs again.');
  });
  const pause = async (): Promise<void> => {
    await admin('queue.pause', {});
    await onDone();
    toast('The queue is paused.');
  };
  if (isPaused) {
    return (
      <Button tone="primary" icon="play" busy={resume.isBusy} onClick={() => void resume.run()}>
        Resume the queue
      </Button>
    );
  }
  return (
    <>
      <Button icon="pause" onClick={() => setAsking(true)}>
        Pause the queue
      </Button>
      {isAsking && (
        <Confirm
          title="Pause everybody’s queue?"
          text={PAUSE}
          verb="Pause the queue"
          action={pause}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}

const PAUSE =
  'No waiting job of any member starts until you resume. Jobs that run now finish, and calls ' +
  'without async go on.';
