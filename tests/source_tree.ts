/**
 * The program's own source, parsed: what each file imports, however that is written, and which globals it
 * uses, under any name.
 */
import { dirname, relative, resolve } from "node:path";
import ts from "typescript";

export const ROOT = resolve(import.meta.dirname!, "..");

/** The text by path from the root, such as `src/http/app.ts`. */
export type Sources = ReadonlyMap<string, string>;

export interface Import {
  /** The name as it is written; null if it is computed. */
  readonly specifier: string | null;
  /** The path from the root if the specifier is a relative one, else null. */
  readonly target: string | null;
  /** Whether it is gone at run time. */
  readonly isType: boolean;
  /** The names that are imported from the module; `*` stands for all of them. */
  readonly names: readonly string[];
}

/** A reference to something that the file itself neither defines nor imports. */
export interface GlobalUse {
  readonly name: string;
  /** The member that is used, as in `Date.now`; null if it is used as a whole, or by a computed name. */
  readonly member: string | null;
  /** Whether it is constructed with exactly one argument, which is no spread. */
  readonly isMade: boolean;
  /** Line, from 1. */
  readonly line: number;
}

/**
 * A member that is named: in `a.name`, in `a["name"]`, in `{ name: … }` or `{ get name() … }`, or taken out by
 * `const { name } = a`. A computed name counts if its type says which text it is.
 */
export interface MemberUse {
  readonly name: string;
  /** From 1. */
  readonly line: number;
}

export interface Parsed {
  readonly imports: readonly Import[];
  readonly globals: readonly GlobalUse[];
  readonly members: readonly MemberUse[];
  /** Strings of the code; of a sum of strings, the sum too. */
  readonly literals: readonly MemberUse[];
}

/** Every file in the folder, whatever its language. */
export async function readSources(folder = "src"): Promise<Sources> {
  const sources = new Map<string, string>();
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}/${folder}`)) {
    const path = `${folder}/${name}`;
    if (isDirectory) { for (const [inner, text] of await readSources(path)) sources.set(inner, text); }
    else sources.set(path, await Deno.readTextFile(`${ROOT}/${path}`));
  }
  return sources;
}

const OPTIONS: ts.CompilerOptions = {
  // A name that the file does not define then has no symbol.
  noLib: true,
  noResolve: true,
  allowImportingTsExtensions: true,
  jsx: ts.JsxEmit.Preserve,
  module: ts.ModuleKind.ESNext,
  // A file without imports and exports defines nothing for the others.
  moduleDetection: ts.ModuleDetectionKind.Force,
  target: ts.ScriptTarget.ESNext,
};

/** Parses the files in TypeScript, each by itself. */
export function parseSources(sources: Sources): ReadonlyMap<string, Parsed> {
  const paths = [...sources.keys()].filter((path) => /\.tsx?$/.test(path));
  const program = ts.createProgram(paths, OPTIONS, {
    getSourceFile: (name, version) => ts.createSourceFile(name, sources.get(name)!, version, true),
    fileExists: (name) => sources.has(name),
    readFile: (name) => sources.get(name),
    writeFile: () => {},
    getDefaultLibFileName: () => "lib.d.ts",
    getCurrentDirectory: () => "",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
  });
  const checker = program.getTypeChecker();
  return new Map(program.getSourceFiles().map((file) => [file.fileName, parseFile(file, checker)]));
}

function parseFile(file: ts.SourceFile, checker: ts.TypeChecker): Parsed {
  const imports: Import[] = [];
  const globals: GlobalUse[] = [];
  const members: MemberUse[] = [];
  const literals: MemberUse[] = [];
  const visit = (node: ts.Node) => {
    const found = importIn(node, file.fileName);
    if (found !== null) imports.push(found);
    if (ts.isIdentifier(node) && isReference(node) && isGlobal(node, checker)) {
      globals.push(useOf(node, file));
    }
    for (const name of membersIn(node, checker)) members.push({ name, line: lineOf(node, file) });
    const text = constantText(node);
    if (text !== null) literals.push({ name: text, line: lineOf(node, file) });
    // At run time types refer only to files.
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { imports, globals, members, literals };
}

function importIn(node: ts.Node, path: string): Import | null {
  if (ts.isImportDeclaration(node)) {
    const { importClause: clause, moduleSpecifier } = node;
    return toImport(moduleSpecifier, {
      path,
      isType: clause?.isTypeOnly ?? false,
      names: importedNames(clause),
    });
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier !== undefined) {
    const { exportClause: clause, isTypeOnly: isType, moduleSpecifier } = node;
    const names = clause !== undefined && ts.isNamedExports(clause)
      ? clause.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
      : ["*"];
    return toImport(moduleSpecifier, { path, isType, names });
  }
  if (ts.isImportEqualsDeclaration(node) && ts.isExternalModuleReference(node.moduleReference)) {
    return toImport(node.moduleReference.expression, { path, isType: node.isTypeOnly, names: ["*"] });
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return toImport(node.arguments[0], { path, isType: false, names: ["*"] });
  }
  if (ts.isImportTypeNode(node)) {
    const argument = ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined;
    return toImport(argument, { path, isType: true, names: ["*"] });
  }
  return null;
}

/** `import "x"` has none: nothing is imported, and the module runs. */
function importedNames(clause: ts.ImportClause | undefined): readonly string[] {
  const bindings = clause?.namedBindings;
  return [
    ...(clause?.name === undefined ? [] : ["default"]),
    ...(bindings === undefined
      ? []
      : ts.isNamespaceImport(bindings)
      ? ["*"]
      : bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)),
  ];
}

function toImport(
  specifier: ts.Node | undefined,
  { path, ...rest }: Pick<Import, "isType" | "names"> & { readonly path: string },
): Import {
  if (specifier === undefined || !ts.isStringLiteralLike(specifier)) {
    return { specifier: null, target: null, ...rest };
  }
  const { text } = specifier;
  const target = text.startsWith(".") ? relative(ROOT, resolve(ROOT, dirname(path), text)) : null;
  return { specifier: text, target, ...rest };
}

/** Whether an identifier is a value: no key, no label and no part of a type. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return parent.name === node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent) || ts.isEnumMember(parent)) return parent.initializer === node;
  if (ts.isQualifiedName(parent)) return parent.left === node && isAliased(parent);
  if (ts.isTypeQueryNode(parent)) return false;
  if (ts.isJsxAttribute(parent) || ts.isImportAttribute(parent)) return false;
  // An element of HTML.
  if (ts.isJsxOpeningLikeElement(parent) || ts.isJsxClosingElement(parent)) return /^[A-Z]/.test(node.text);
  return ts.isExpression(node) && !ts.isPartOfTypeNode(node) && isUsed(node);
}

/** Whether it is what `import name = …` stands for. */
function isAliased(node: ts.QualifiedName): boolean {
  return ts.findAncestor(node, ts.isImportEqualsDeclaration) !== undefined;
}

/** Whether it is not a name that its parent defines or destructures. */
function isUsed(node: ts.Identifier): boolean {
  const { parent } = node as {
    readonly parent: { readonly name?: ts.Node; readonly propertyName?: ts.Node };
  };
  return parent.name !== node && parent.propertyName !== node;
}

function isGlobal(node: ts.Identifier, checker: ts.TypeChecker): boolean {
  if (node.text === "undefined") return false;
  const symbol = ts.isShorthandPropertyAssignment(node.parent)
    ? checker.getShorthandAssignmentValueSymbol(node.parent)
    : checker.getSymbolAtLocation(node);
  // The compiler knows `globalThis` by itself.
  return node.text === "globalThis" || (symbol?.declarations ?? []).every(isDeclaredOnly);
}

/** Whether it only says that something exists elsewhere, as `declare const Deno` does. */
function isDeclaredOnly(declaration: ts.Declaration): boolean {
  return ts.findAncestor(declaration, (node) =>
    ts.canHaveModifiers(node) &&
    ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword) === true) !== undefined;
}

function useOf(node: ts.Identifier, file: ts.SourceFile): GlobalUse {
  const { parent, text: name } = node;
  const member = ts.isPropertyAccessExpression(parent)
    ? parent.name.text
    : ts.isQualifiedName(parent)
    ? parent.right.text
    : null;
  const isMade = ts.isNewExpression(parent) && parent.expression === node &&
    parent.arguments?.length === 1 && !ts.isSpreadElement(parent.arguments[0]!);
  return { name, member, isMade, line: lineOf(node, file) };
}

function membersIn(node: ts.Node, checker: ts.TypeChecker): readonly string[] {
  if (ts.isElementAccessExpression(node)) return textsOf(node.argumentExpression, checker);
  const name = memberIn(node);
  if (name === undefined) return [];
  if (ts.isComputedPropertyName(name)) return textsOf(name.expression, checker);
  return ts.isIdentifier(name) || ts.isStringLiteralLike(name) ? [name.text] : [];
}

/** The name of a member that stands for itself or in brackets. */
function memberIn(node: ts.Node): ts.Node | undefined {
  if (ts.isPropertyAccessExpression(node)) return node.name;
  if (ts.isObjectLiteralElementLike(node) || ts.isPropertyDeclaration(node)) return node.name;
  if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
    return node.propertyName ?? node.name;
  }
  return undefined;
}

/** The text of a string, or of a sum of strings; null for any other expression. */
function constantText(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isParenthesizedExpression(node)) return constantText(node.expression);
  if (!ts.isBinaryExpression(node) || node.operatorToken.kind !== ts.SyntaxKind.PlusToken) return null;
  const [left, right] = [constantText(node.left), constantText(node.right)];
  return left === null || right === null ? null : left + right;
}

/** The texts that an expression can have, as far as its type and its constants tell them. */
function textsOf(expression: ts.Node, checker: ts.TypeChecker): readonly string[] {
  const text = constantText(expression);
  if (text !== null) return [text];
  const type = checker.getTypeAtLocation(expression);
  return (type.isUnion() ? type.types : [type]).flatMap((one) => one.isStringLiteral() ? [one.value] : []);
}

function lineOf(node: ts.Node, file: ts.SourceFile): number {
  return file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
}

/** Groups of files that import each other in a circle, types included; each group in the order of its names. */
export function cyclesOf(parsed: ReadonlyMap<string, Parsed>): readonly (readonly string[])[] {
  const [order, low] = [new Map<string, number>(), new Map<string, number>()];
  const path: string[] = [];
  const cycles: string[][] = [];
  // Tarjan, "Depth-First Search and Linear Graph Algorithms" (SIAM Journal on Computing, 1972).
  const visit = (file: string) => {
    order.set(file, order.size);
    low.set(file, order.get(file)!);
    path.push(file);
    for (const { target } of parsed.get(file)!.imports) {
      if (target === null || !parsed.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (path.includes(target)) low.set(file, Math.min(low.get(file)!, low.get(target)!));
    }
    if (low.get(file) !== order.get(file)) return;
    const group = path.splice(path.indexOf(file));
    if (group.length > 1) cycles.push(group.sort());
  };
  for (const file of parsed.keys()) if (!order.has(file)) visit(file);
  return cycles;
}
