import * as z from 'zod';
import { noCoordinator } from './coordinator-call.js';
import type { Asked, CoordinatorAnswer } from './coordinator-call.js';

const enrolment = z.object({
  provider_id: z.string().min(1),
  name: z.string().min(1).max(256),
  token: z.string().min(1),
  /** Absent from coordinators that let every provider in. */
  approved: z.boolean().default(true),
});

/** What the coordinator made of this machine: `token` is the agent's own secret. */
export type Enrolment = z.infer<typeof enrolment>;

/** Throws a `CommandError` where a good answer holds something else. */
export function readEnrolment({ body }: CoordinatorAnswer, asked: Asked): Enrolment {
  const parsed = enrolment.safeParse(body);
  if (!parsed.success) throw noCoordinator(asked, 'its answer is no enrolment');
  return parsed.data;
}
