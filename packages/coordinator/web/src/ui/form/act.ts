/** An action of a button or a form: whether it runs, and its error. */
import { useState } from 'preact/hooks';
import { asFault } from '../../api/fault.js';
import type { Fault } from '../../api/fault.js';
import { toastFault } from '../dialog/toasts.js';

export interface Act<Args extends readonly unknown[]> {
  /** Resolves to whether it succeeded. */
  run(...args: Args): Promise<boolean>;
  readonly isBusy: boolean;
  /** Of the last run. */
  readonly fault: Fault | null;
}

/** For forms, which show the error beside its field. */
export function useAct<Args extends readonly unknown[]>(
  action: (...args: Args) => Promise<unknown>,
): Act<Args> {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<Fault | null>(null);
  return {
    isBusy,
    fault,
    async run(...args) {
      setBusy(true);
      try {
        await action(...args);
        setFault(null);
        return true;
      } catch (thrown) {
        setFault(asFault(thrown));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}

/** For single buttons: an error is shown as a toast. */
export function useToastedAct<Args extends readonly unknown[]>(
  action: (...args: Args) => Promise<unknown>,
): Act<Args> {
  return useAct(async (...args: Args) => {
    try {
      await action(...args);
    } catch (thrown) {
      toastFault(thrown);
      throw thrown;
    }
  });
}
