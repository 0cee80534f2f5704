// Why a call is refused, each with a stable code and how to mend it.
import { extensionProblem, mayBecome, nextStatuses } from '@baton/protocol/dialects/handoff-v01'
import type { OfferedHandoff, Status } from '@baton/protocol/dialects/handoff-v01'
import { permanent, transient } from '@baton/runtime'

const SHOWN_MAX = 80

/** An id as a message names it: whole lines, whatever it holds. */
export function shown(taskId: string): string {
  const text = JSON.stringify(taskId)
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX).toWellFormed()}…"`
}

export const unknown = (idOrPrefix: string) =>
  permanent(
    'BATON_OFFER_UNKNOWN',
    `no handoff has the id ${shown(idOrPrefix)}, or one that begins so`,
    {
      fix: 'List the handoffs to see their ids; HANDOFF_DIR names the folder they are in.',
    },
  )

export const ambiguous = (prefix: string) =>
  permanent('BATON_OFFER_AMBIGUOUS', `the ids of several handoffs begin with ${shown(prefix)}`, {
    fix: 'Give more of the id; nothing was changed.',
  })

export const invalid = (words: string) =>
  permanent('BATON_OFFER_INVALID', words, {
    fix: 'Mend it by the published schema, spec/handoff-v0.1.json.',
  })

export const exists = (taskId: string) =>
  permanent('BATON_OFFER_EXISTS', `a handoff has the id ${shown(taskId)} already`, {
    fix: 'Choose another task_id, or leave it out.',
  })

/** Throws BATON_OFFER_STATUS where no way leads from the handoff's status to this one. */
export function refuseIllegal({ task_id: id, status }: OfferedHandoff, to: Status): void {
  if (mayBecome(status, to)) return
  const next = nextStatuses(status)
  throw permanent(
    'BATON_OFFER_STATUS',
    `handoff ${shown(id)} is ${status} and cannot become ${to}`,
    {
      fix:
        next.length === 0
          ? `It ends with ${status}; offer new work as a new handoff.`
          : `From ${status} it may become ${next.join(' or ')}.`,
    },
  )
}

/** Throws BATON_OFFER_NOT_ADDRESSED where it is offered to another agent. */
export function refuseUnaddressed(handoff: OfferedHandoff, agent: string): void {
  if (agent === '') throw invalid('an agent needs a name')
  const { task_id: id, to_agent: to } = handoff
  if (to === '' || to === agent) return
  throw permanent(
    'BATON_OFFER_NOT_ADDRESSED',
    `handoff ${shown(id)} is offered to ${shown(to)}, not to ${shown(agent)}`,
    { fix: 'Take one that is offered to this agent or to anyone.' },
  )
}

/** Throws BATON_OFFER_NOT_ADDRESSED where another agent has accepted it, or is addressed. */
export function refuseOthers(handoff: OfferedHandoff, agent: string | undefined): void {
  if (agent === undefined) return
  const { task_id: id, context, status } = handoff
  const by = Object.hasOwn(context, 'accepted_by') ? context['accepted_by'] : undefined
  if (status === 'offered' || typeof by !== 'string') return refuseUnaddressed(handoff, agent)
  if (by === agent) return
  throw permanent(
    'BATON_OFFER_NOT_ADDRESSED',
    `handoff ${shown(id)} was accepted by ${shown(by)}, not by ${shown(agent)}`,
    { fix: 'Only the agent that accepted it says how it ended.' },
  )
}

/** Throws BATON_OFFER_INVALID where priority, deadline, tags or parent_task_id are not what they are by convention. */
export function refuseExtensions({ context }: OfferedHandoff): void {
  const problem = extensionProblem(context)
  if (problem !== undefined) throw invalid(`the context is wrong: ${problem}`)
}

/** Throws BATON_OFFERS_FOLDER where the file system refuses what `work` asks of the folder: no rights, no space, no folder. */
export async function whileUsable<Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException
    const isRefused = syscall !== undefined || code === 'ERR_SQLITE_ERROR'
    if (!isRefused) throw error
    throw transient('BATON_OFFERS_FOLDER', `the folder ${folder} cannot be used (${code})`, {
      fix: 'Let HANDOFF_DIR name a folder that this user may read and write, on a disk with space left.',
      cause: error,
    })
  }
}
