/**
 * The last 24 hours of a member's own machine, as its agent tells its owner alone, whatever their
 * role: there is no such operation for administrators.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { ASK_REFUSALS } from '@inference-gateway/shared/protocol/asks';
import type { Reply } from '@inference-gateway/shared/protocol/asks';
import {
  DAY_LIMITS,
  dayBody,
  dayCardBody,
  GPUS_DAY,
} from '@inference-gateway/shared/protocol/gpu-asks';
import type { DayCard, DayOfMachine, Measured } from '@inference-gateway/shared/protocol/gpu-asks';
import * as z from 'zod';
import { askAgent, NotAsked } from './agent-questions.js';
import { read } from './command.js';
import { ownProvider } from './own.js';

export const MY_GPU_DAY = {
  /** Minutes without a value are null. */
  'provider.gpu-day': read(z.strictObject({ provider: z.string() }), async (mine, args) => {
    const { context, member } = mine;
    const { id: providerId } = await ownProvider(mine, args);
    const about = { providerId, memberId: member.id, by: member.name };
    const told = new DayReplies();
    try {
      const asked = { ...about, topic: GPUS_DAY, args: {} };
      const { last } = askAgent(context, asked, (reply) => told.add(reply));
      await last;
      return { state: 'on', ...told.result() } as const;
    } catch (error) {
      if (!(error instanceof NotAsked) || error.outcome === 'busy') throw error;
      return { state: error.outcome };
    }
  }),
};

/** The parts of an answer, each checked when it comes; after a wrong one nothing is kept. */
class DayReplies {
  readonly #cards: DayCard[] = [];
  #day: DayOfMachine | null = null;
  #refusal: Reply['refusal'];
  #isWrong = false;

  add({ last, body, refusal }: Reply): void {
    if (refusal !== undefined) this.#refusal = refusal;
    else if (last) this.#day = dayBody.safeParse(body).data?.day ?? null;
    else if (body !== undefined) this.#addCard(body);
  }

  /** Throws a `CommandError` if the agent refused, or answered something else. */
  result(): { readonly day: DayOfMachine; readonly cards: readonly DayCard[] } {
    if (this.#refusal?.code === ASK_REFUSALS.unknown) throw new NotAsked('older');
    if (this.#refusal !== undefined) throw new CommandError(EXIT.conflict, this.#refusal.message);
    const [cards, day] = [this.#cards, this.#day];
    if (this.#isWrong || day === null || !haveOneLength(cards, day)) {
      throw new CommandError(EXIT.conflict, 'the agent on the machine answered something else.');
    }
    return { cards, day };
  }

  #addCard(body: Reply['body']): void {
    const parsed = this.#isWrong ? undefined : dayCardBody.safeParse(body).data;
    if (parsed === undefined || this.#cards.length === DAY_LIMITS.cards) {
      this.#isWrong = true;
      this.#cards.length = 0;
    } else this.#cards.push(parsed.card);
  }
}

/** Whether all series have the same minutes. */
function haveOneLength(cards: readonly DayCard[], day: DayOfMachine): boolean {
  const all: Measured[] = [day.own_slots, day.others_slots, day.programs_percent];
  for (const card of cards) {
    all.push(card.use_percent, card.memory_used_mib, card.temperature_c, card.power_watts);
  }
  const { length } = day.own_slots.mean;
  return all.every(({ mean, max }) => mean.length === length && max.length === length);
}
