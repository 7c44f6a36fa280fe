import * as Dialog from "@radix-ui/react-dialog";
import { useState, type FormEvent } from "react";
import { usePage } from "./App";
import { Icon } from "./Icon";

const memories = [
  { value: "default", label: "Default", about: "Chats may use and add to what is remembered elsewhere." },
  { value: "project-only", label: "Project-only", about: "Chats remember this project and nothing else. This cannot be changed later." },
];

/** The button that opens the form for a new project, and that form. */
export function ProjectDialog() {
  const { chat } = usePage();
  const [open, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [memory, setMemory] = useState("default");
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    await chat.createProject(name, memory);
    setOpen(false);
    setName("");
    setMemory("default");
  };
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger className="new-project" data-testid="new-project-button">
        <Icon name="plus" /> New project
      </Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="dialog" data-testid="modal-new-project" aria-describedby={undefined}>
          <Dialog.Title>Create project</Dialog.Title>
          <form onSubmit={(event) => void submit(event)}>
            <label>
              Name
              <input name="projectName" value={name} onChange={(event) => setName(event.target.value)} placeholder="Till repairs" autoComplete="off" />
            </label>
            <div role="radiogroup" aria-label="Memory" className="memory">
              {memories.map((m) => (
                <button key={m.value} type="button" role="radio" data-memory={m.value} aria-checked={memory === m.value} onClick={() => setMemory(m.value)}>
                  <strong>{m.label}</strong>
                  <span>{m.about}</span>
                </button>
              ))}
            </div>
            <div className="dialog-buttons">
              <Dialog.Close type="button">Cancel</Dialog.Close>
              <button type="submit" className="primary" data-testid="create-project-button" disabled={name.trim() === ""}>
                Create project
              </button>
            </div>
          </form>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
