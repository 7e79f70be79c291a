import { toldText } from './labels.js';
import { useNow } from './time.js';

/** A sentence of the coordinator, such as why a job waits, with the words of this page. */
export function Told({ text }: { readonly text: string | null | undefined }) {
  return <>{toldText(text ?? '', useNow())}</>;
}
