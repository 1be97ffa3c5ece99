import { expect, test } from 'vitest'
import { WriteQueue } from '../../../src/engine/sessions/write-queue.js'

test('a call that fails before it has begun is over, and is not waited for', async () => {
  const order = new WriteQueue('agent')
  const failed = order.finish(() => {
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  expect(order.isFree).toBe(true)
  await order.close()
})
