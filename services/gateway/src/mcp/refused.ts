// What went wrong, as a model reads it: the code, where it is and how to mend it, as the result of the tool and never as a failure of the protocol.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Detail } from '@baton/protocol'
import type { RouteAnswer } from '../inside-call.ts'

/** A problem document, and what its headers add. */
export interface Problem {
  readonly code: string
  readonly detail: string
  readonly status?: number
  readonly fix?: string
  readonly pointer?: string
  readonly parameter?: string
  readonly [member: string]: unknown
}

/** Thrown where a route refuses. */
export class Refused extends Error {
  readonly problem: Problem
  constructor(problem: Problem) {
    super(problem.code)
    this.problem = problem
  }
}

export function refusedBy({ body, headers }: RouteAnswer): Refused {
  const { type: _, title: _title, ...problem } = body as Problem
  const needed = headers['baton-decision-needed']
  const retryAfter = headers['retry-after']
  return new Refused({
    ...problem,
    ...(retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }),
    ...(typeof needed === 'string' ? { decisionNeeded: needed } : {}),
  })
}

/** Arguments in another form than the tool takes: every place that is wrong. */
export const refusedArguments = (details: readonly Detail[]): Refused => {
  const errors = details
    .slice(0, ERRORS_MAX)
    .map(({ pointer, rule, message, fix }) => ({ pointer, rule, detail: message, fix }))
  return new Refused({
    code: 'BATON_REQUEST_INVALID',
    status: 422,
    detail: errors[0]?.detail ?? 'the arguments do not have the form that the tool takes',
    fix: errors[0]?.fix ?? 'Compare them with the inputSchema of the tool.',
    pointer: errors[0]?.pointer ?? '',
    errors,
  })
}

const ERRORS_MAX = 20

/** Under this name a result carries its problem, for programs. */
export const PROBLEM_META = 'baton/problem'

/** No structured content: that would have to be what the tool's outputSchema says. */
export function refusedResult({ problem }: Refused): CallToolResult {
  const { code, detail, fix, pointer, parameter } = problem
  const where = pointer || parameter
  const text = [
    `Refused, ${code}: ${detail}${where === undefined ? '' : ` (at ${where})`}.`,
    ...(fix === undefined ? [] : [`To mend it: ${fix}`]),
    ...(problem['decisionNeeded'] === undefined ? [] : [SIGN]),
  ].join('\n')
  return {
    isError: true,
    content: [
      { type: 'text', text },
      { type: 'text', text: JSON.stringify(problem) },
    ],
    _meta: { [PROBLEM_META]: problem },
  }
}

const SIGN =
  'Only a person can sign: show them what is decided and decisionNeeded. They run `baton people sign` with it, and this tool is called again with what that prints as `signature`.'
