// A tool and a workflow step of Mastra that hand work to an agent of Baton: durable before they answer, and a suspended step waits over restarts.
import { answerOf, completedResult, jsonOf, keyMissing } from '@baton/sdk'
import type {
  HandOver,
  HandOverAnswer,
  HandOverRequest,
  JsonObject,
  Sender,
  TaskOutcome,
} from '@baton/sdk'
import { convertMessages } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { createStep } from '@mastra/core/workflows'
import { fromMastra } from './messages.ts'

interface Options {
  /** Of `createHandOver`, or what an agent hosted by Baton is given. */
  readonly handOver: HandOver
  /** The agent type that takes over. */
  readonly to: string
  readonly constraints?: HandOverRequest['constraints']
}

export interface HandOverToolOptions extends Options {
  /** Its name for the model; `hand_over_to_` and the agent type by default. */
  readonly id?: string
  /** When the model shall hand over, in words for it. */
  readonly description?: string
  /**
   * What makes it the same handoff after a crash. The id of the tool call by default: it is another one where the model is asked anew; then give an id of your own request.
   */
  readonly key?:
    | string
    | ((call: { readonly toolCallId: string | undefined; readonly task: string }) => string)
}

const TEXT = { type: 'string' as const }
const ANY = { type: 'object' as const, additionalProperties: true }
const TASK = {
  type: 'object' as const,
  properties: { task: { ...TEXT, description: 'What the other agent shall do.' } },
  required: ['task'],
  additionalProperties: false,
}

/** The conversation before the call goes along; the answer says how the task stood when it ended or the wait was over. */
export function handOverTool(options: HandOverToolOptions) {
  const { handOver, to, key, constraints } = options
  return createTool({
    id: options.id ?? `hand_over_to_${to.replaceAll(/[^a-zA-Z0-9_-]/g, '_')}`,
    description: options.description ?? `Hand the work over to ${to}, and get what comes of it.`,
    inputSchema: TASK,
    execute: async (input, { agent, workflow, abortSignal }): Promise<HandOverAnswer> => {
      const { task } = input as { readonly task: string }
      const toolCallId = agent?.toolCallId
      const own = typeof key === 'function' ? key({ toolCallId, task }) : key
      const named = own ?? toolCallId ?? workflow?.runId
      if (named === undefined) throw keyMissing('a tool that no model and no workflow called')
      const handed = await handOver({
        key: named,
        to,
        task,
        messages: fromMastra(convertMessages((agent?.messages ?? []) as never).to('Mastra.V2')),
        signal: abortSignal,
        ...(constraints === undefined ? {} : { constraints }),
      })
      return answerOf(handed)
    },
  })
}

export interface HandOverStepOptions extends Options {
  /** `hand-over-to-` and the agent type by default. */
  readonly id?: string
  /**
   * Where the outcome is waited for: in the step, for as long as `handOver` waits, by default; or suspended, whose run a program resumes with
   * `resumeHandedOver`, days later or from another process.
   */
  readonly wait?: 'step' | 'suspend'
}

const INPUT = { ...TASK, properties: { ...TASK.properties, state: ANY } }
const OUTPUT = { ...ANY, properties: { taskId: TEXT, result: {} }, required: ['taskId'] }

interface StepInput {
  readonly task: string
  /** More of the receiver’s `currentState`. */
  readonly state?: JsonObject
}

/** What a suspended step says. */
interface Waiting {
  readonly taskId: string
  readonly to: string
}

/**
 * A step whose input is `{ task, state? }` and whose output `{ taskId, result }`. The run and the step are its key: a run that is started again after a crash hands over
 * once. It fails with BATON_TASK_NOT_COMPLETED or BATON_TASK_UNFINISHED where there is no result.
 */
export function handOverStep({
  handOver,
  to,
  wait = 'step',
  constraints,
  ...named
}: HandOverStepOptions) {
  const id = named.id ?? `hand-over-to-${to}`
  return createStep({
    id,
    inputSchema: INPUT,
    outputSchema: OUTPUT,
    suspendSchema: ANY,
    resumeSchema: ANY,
    execute: async ({ inputData, runId, resumeData, suspend, abortSignal }) => {
      const { task, state } = inputData as unknown as StepInput
      const handed = await handOver({
        key: `${runId}/${id}`,
        to,
        task,
        messages: [],
        signal: abortSignal,
        ...(wait === 'suspend' ? { waitMs: 0 } : {}),
        ...(state === undefined ? {} : { state: jsonOf(state, 'the state') as JsonObject }),
        ...(constraints === undefined ? {} : { constraints }),
      })
      const { taskId } = handed
      if (handed.handoffId === undefined) return { taskId, result: null }
      const outcome = wait === 'suspend' ? (resumeData as TaskOutcome | undefined) : handed.outcome
      if (wait === 'suspend' && outcome === undefined)
        return await suspend({ taskId, to } satisfies Waiting)
      return { taskId, result: completedResult({ ...handed, outcome }) }
    },
  })
}

/** What of a run's result, or of what its storage holds, says for what it waits. */
interface Suspended {
  readonly status: string
  readonly steps?: Readonly<Record<string, unknown>>
}

interface Resumable<Result> {
  resume(options: { step: string; resumeData: never }): Promise<Result>
}

export interface ResumeOptions {
  readonly sender: Pick<Sender, 'outcome'>
  /** How long the outcome is waited for; 60 s by default. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

/**
 * Waits for what a suspended run has handed over with `wait: 'suspend'`, and resumes it; undefined where it waits for nothing of Baton, or where it goes on longer than
 * `waitMs`. `suspended` is what `start` or `resume` answered, or in another process `workflow.getWorkflowRunById(runId)`.
 */
export async function resumeHandedOver<Result>(
  run: Resumable<Result>,
  suspended: Suspended,
  { sender, waitMs, signal }: ResumeOptions,
): Promise<Result | undefined> {
  for (const [step, standing] of Object.entries(suspended.steps ?? {})) {
    const { status, suspendPayload } = standing as {
      status?: string
      suspendPayload?: Partial<Waiting>
    }
    const taskId = suspendPayload?.taskId
    if (status !== 'suspended' || taskId === undefined) continue
    const outcome = await sender.outcome(taskId, { waitMs, signal })
    return outcome.ended ? run.resume({ step, resumeData: outcome as never }) : undefined
  }
  return undefined
}
