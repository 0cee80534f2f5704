// A query says nothing that its route does not take: a filter with a wrong name would otherwise answer everything.
import type { FastifyRequest } from 'fastify'
import { ProblemError } from './problem.ts'

/** Only what looks like a name is said again: anything else could be text of a message. */
const NAME = /^[A-Za-z][\w.-]{0,31}$/

/**
 * Throws 400 BATON_PARAMETER_UNKNOWN, which says what is unknown and what is known. Runs once the caller may use the
 * route, so that nobody else learns what it takes.
 */
export async function requireKnownParameters({
  is404,
  query,
  routeOptions,
}: FastifyRequest): Promise<void> {
  const { properties = {} } = (routeOptions.schema?.querystring ?? {}) as { properties?: object }
  const unknown = Object.keys(query as object).filter((name) => !Object.hasOwn(properties, name))
  const [first] = unknown
  if (is404 || first === undefined) return
  throw parameterUnknown(first, unknown.length, Object.keys(properties).toSorted())
}

function parameterUnknown(name: string, count: number, known: readonly string[]): ProblemError {
  const parameter = NAME.test(name) ? name : undefined
  const more = count === 1 ? '' : `, and ${count - 1} more`
  const takes = known.length === 0 ? 'no query' : known.join(', ')
  return new ProblemError({
    status: 400,
    code: 'BATON_PARAMETER_UNKNOWN',
    detail: `this path takes no query parameter ${parameter ?? 'of such a name'}${more}`,
    fix: `Leave it out, or correct its name: this path takes ${takes}.`,
    parameter,
  })
}
