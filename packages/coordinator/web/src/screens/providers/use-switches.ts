/**
 * The two switches of a provider: whether it takes work of other members, and whether it takes any.
 */
import { my } from '../../api/commands.js';
import { useToastedAct } from '../../ui/form/act.js';
import { toast } from '../../ui/dialog/toasts.js';
import type { OwnProvider } from './own-providers.js';

const DONE = {
  'provider.pause': 'does only your own work now.',
  'provider.unpause': 'does the work of others again.',
  'provider.drain': 'gets no new work. Running work is finished.',
  'provider.resume': 'gets work again.',
} as const;

type Switch = keyof typeof DONE;

export function useSwitches({ id, name }: OwnProvider, onChange: () => Promise<void>) {
  return useToastedAct(async (command: Switch) => {
    await my(command, { provider: id });
    toast(`${name} ${DONE[command]}`);
    await onChange();
  });
}
