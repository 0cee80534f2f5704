// People of whom the log tells: a task of each, holds on it, and what an erasure answers.
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { fetchSigned } from '@baton/testkit'
import { entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

export interface Person {
  readonly subject: string
  readonly taskId: string
  readonly handoffId: string
}

/** At an auditor that was started with the token of holds. */
export function peopleOf(auditor: () => RunningAuditor) {
  return {
    /** Whether that changed anything. */
    async hold(taskId: string, held: boolean): Promise<boolean> {
      const answer = await fetchSigned(`${auditor().url}/v1/holds/${taskId}`, {
        method: 'PUT',
        headers: {
          authorization: 'Bearer hold-token-af1d8213f4a22b0f9803fe',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ held, actor: 'counsel' }),
      })
      expect(answer.status).toBe(200)
      return ((await answer.json()) as { changed: boolean }).changed
    },
    /** A task that tells of one person. */
    async tell(): Promise<Person> {
      const person = { subject: randomUUID(), taskId: randomUUID(), handoffId: randomUUID() }
      const { subject, ...ids } = person
      const segments = [{ kind: 'personal' as const, subject, text: `of ${subject}` }]
      await auditor().client.append([entryOf({ ...ids, segments })])
      return person
    },
    plan: ({ subject, taskId, handoffId }: Person, id: string = randomUUID()) =>
      auditor().erase('/v1/erasures', {
        id,
        subject,
        basis: 'GDPR_ART_17_1',
        requestedBy: 'ann',
        handoffIds: [handoffId],
        taskIds: [taskId],
      }),
    confirm: (id: string, { subject, taskId, handoffId }: Person) =>
      auditor().erase(`/v1/erasures/${id}/confirm`, {
        subject,
        confirmedBy: 'bob',
        handoffIds: [handoffId],
        taskIds: [taskId],
      }),
  }
}

/** As the superuser, past every guard of these tables, which are in force again afterwards. */
export const pastGuards = (
  { superuser }: AuditFixture,
  tables: readonly string[],
  text: string,
): Promise<unknown> =>
  superuser.query({
    text: [
      ...tables.map((table) => `alter table audit.${table} disable trigger user`),
      text,
      ...tables.map(
        (table) => `do $$ declare t name; begin
          for t in select tgname from pg_trigger where tgrelid = 'audit.${table}'::regclass and not tgisinternal loop
            execute format('alter table audit.${table} enable always trigger %I', t);
          end loop; end $$`,
      ),
    ].join('; '),
  })
