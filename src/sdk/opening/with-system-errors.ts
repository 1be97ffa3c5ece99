import { explainSystemError } from '../../model/index.js'

/** For what is no operation: those explain their faults themselves. */
export async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explainSystemError(error)
  }
}
