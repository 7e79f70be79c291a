import { useEffect, useRef, useState } from 'preact/hooks';
import { useAct } from '../../../ui/form/act.js';
import { Button } from '../../../ui/button/button.js';
import { formatMs } from '../../../ui/text/format.js';
import { FaultText } from '../../../ui/table/states.js';
import { useSeconds } from '../use-seconds.js';
import { MAX_RECORDING_MS, startRecording } from './recorder.js';
import type { Recording } from './recorder.js';
import { clock } from './transcript.js';

export function RecordButton({ onFile }: { readonly onFile: (file: File) => void }) {
  const [recording, setRecording] = useState<Recording | null>(null);
  const running = useRef<Recording | null>(null);
  running.current = recording;
  const isGone = useRef(false);
  // Whoever leaves the tab is not listened to.
  useEffect(
    () => () => {
      isGone.current = true;
      void running.current?.stop();
    },
    [],
  );
  const [isCut, setCut] = useState(false);
  const act = useAct(async () => {
    setCut(false);
    const started = await startRecording();
    // The browser asks first, and who answers it may have left meanwhile.
    if (isGone.current) await started.stop();
    else setRecording(started);
  });
  const stop = async (): Promise<void> => {
    if (recording === null) return;
    setRecording(null);
    onFile(await recording.stop());
  };
  useEffect(() => {
    if (recording === null) return undefined;
    const timer = setTimeout(() => {
      setCut(true);
      void stop();
    }, MAX_RECORDING_MS);
    return () => clearTimeout(timer);
  }, [recording]);
  return (
    <div class="stack tight">
      <div class="row">
        {recording === null ? (
          <Button icon="mic" busy={act.isBusy} onClick={() => void act.run()}>
            Record
          </Button>
        ) : (
          <>
            <Button icon="square" tone="danger" onClick={() => void stop()}>
              Stop recording
            </Button>
            <Seconds />
          </>
        )}
      </div>
      {isCut && (
        <p class="soft small" role="status">
          The recording has ended by itself after {formatMs(MAX_RECORDING_MS)}. Record the rest as
          another one.
        </p>
      )}
      <FaultText fault={act.fault} />
    </div>
  );
}

function Seconds() {
  return <span class="soft">{clock(useSeconds())}</span>;
}
