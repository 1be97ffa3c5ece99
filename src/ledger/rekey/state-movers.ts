// The rows of states. Their ids stay, so that everything that refers to them still does.
import { parseStateId, SavestateError } from '../../model/index.js'
import { number, text } from '../rows.js'
import {
  type Element,
  bodyPlace,
  elementPlace,
  hashOf,
  nodePlace,
  openBody,
  openElement,
  parseBody,
  referencesIn,
  referencesText,
  SEALED,
  sealedBodyText,
  SEALED_BODY,
  sealOf,
  withSeal,
} from '../states/index.js'
import type { Mover, Moving } from './movers.js'
import { staleNode, staleText } from './stale.js'

const elements: Mover = {
  table: 'elements',
  order: ['id'],
  stale: (target) => staleText('text', target),
  move(moving, row) {
    const id = number(row, 'id')
    const element = openElement(moving, row) ?? damaged(`element ${id}`)
    const { form, text, hash } = withOwnHash(moving, { ...element, id })
    const { database, target } = moving
    database.run(
      'UPDATE elements SET hash = ?, form = ?, text = ? WHERE id = ?',
      Buffer.from(hash, 'hex'),
      target === undefined ? form : SEALED,
      target?.seal(`${form}${text}`, elementPlace(id, hash)) ?? text,
      id,
    )
  },
}

/**
 * A writer may have stored the same content under its new hash meanwhile. Both are in use, so this one becomes the same
 * value in another text: JSON with a blank in front.
 */
function withOwnHash(
  { database, target }: Pick<Moving, 'database' | 'target'>,
  { id, form, text }: Element & { readonly id: number },
): Element & { readonly hash: string } {
  const hash = hashOf({ form, text }, { key: target })
  const sql = 'SELECT 1 FROM elements WHERE hash = ? AND id <> ?'
  if (database.get(sql, Buffer.from(hash, 'hex'), id) === undefined) return { form, text, hash }
  return withOwnHash({ database, target }, { id, form, text: ` ${text}` })
}

const nodes: Mover = {
  table: 'nodes',
  order: ['id'],
  stale: staleNode,
  move({ database, vault, target }, row) {
    const [id, { body }] = [number(row, 'id'), row]
    if (!(body instanceof Uint8Array)) damaged(`node ${id}`)
    const seal = sealOf(body)
    const place = nodePlace(id)
    if (seal !== undefined && !vault.keyFor(seal.keyId).isTagOf(seal.tag, seal.packed, place))
      damaged(`node ${id}`)
    const packed = seal?.packed ?? body
    const moved =
      target === undefined
        ? packed
        : withSeal(packed, { keyId: target.id, tag: target.tagOf(packed, place) })
    database.run('UPDATE nodes SET body = ? WHERE id = ?', moved, id)
  },
}

const states: Mover = {
  table: 'states',
  order: ['id'],
  stale: (target) => staleText('body', target, SEALED_BODY),
  move({ database, vault, target }, row) {
    const state = parseStateId(number(row, 'id'))
    const plain =
      openBody({ vault }, { state, body: text(row, 'body') }) ?? damaged(`state ${state}`)
    const references = referencesText(referencesIn(parseBody(plain, state).root))
    const sealed = target?.seal(plain, bodyPlace(state, references))
    const body = sealed === undefined ? plain : sealedBodyText({ sealed, references })
    database.run('UPDATE states SET body = ? WHERE id = ?', body, state)
  },
}

function damaged(what: string): never {
  throw new SavestateError('STORE_DAMAGED', `The ${what} is not what was written`)
}

/** Elements first: what is written meanwhile then finds them under their new hashes. */
export const STATE_MOVERS: readonly Mover[] = [elements, nodes, states]
