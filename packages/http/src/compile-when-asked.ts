// Checks of requests, compiled when one first needs them: a command asks a server of its own one thing, and should not wait for the rest.
import { AjvCompiler } from '@fastify/ajv-compiler'
import type { BuildCompilerFromPool } from '@fastify/ajv-compiler'

type Validate = ReturnType<ReturnType<BuildCompilerFromPool>>

/** As the server would compile them by itself, later. A schema that cannot be compiled fails the request, not the start. */
export function compileWhenAsked(): BuildCompilerFromPool {
  const build = AjvCompiler()
  return (schemas, options) => {
    let compile: ReturnType<BuildCompilerFromPool> | undefined
    return (route) => {
      let validate: Validate | undefined
      const check = (data: unknown) => {
        compile ??= build(schemas, options)
        validate ??= compile(route)
        const answer = validate(data)
        check.errors = validate.errors
        return answer
      }
      check.errors = undefined as Validate['errors']
      return check as Validate
    }
  }
}
